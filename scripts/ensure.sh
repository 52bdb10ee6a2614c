#!/bin/sh
# ensure.sh WHAT PACKAGE TEST
# If the shell command TEST fails, install the Debian package where that can be done; else say how.
what=$1 package=$2 test=$3
sh -c "$test" >/dev/null 2>&1 && exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  echo "$what is missing: installing $package"
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -qq -y --no-install-recommends "$package" >/dev/null 2>&1 ||
    { apt-get update -qq && apt-get install -qq -y --no-install-recommends "$package" >/dev/null; } ||
    exit 1
  sh -c "$test" >/dev/null 2>&1 && exit 0
fi
echo "$what is missing. Install it with: sudo apt-get install -y $package" >&2
exit 1

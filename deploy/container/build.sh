#!/bin/sh
# build.sh SOURCE OUT - what the image has of ours, below OUT. Built apart, whatever the source's own build folder holds.
set -eu
cd "$1"
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
make deps
make -j"$(nproc)" BUILD="$build" all
make install BUILD="$build" DESTDIR="$2" PREFIX=/usr
strip "$2"/usr/bin/rundown*
# Units are nothing for a container.
rm -rf "$2/usr/lib/systemd" "$2/usr/lib/sysusers.d"

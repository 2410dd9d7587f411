#!/bin/sh
# deb.sh STAGE OUT - Debian packages of what `make install DESTDIR=STAGE PREFIX=/usr` put into STAGE, into OUT:
#
#   rundown            the programs, their man pages and documents
#   rundown-services   units of systemd, and scripts for Slurm; nothing is started or enabled by installing it
#
# Equal files give equal packages: all times are SOURCE_DATE_EPOCH. Prints the packages' names.
set -eu

stage=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")/.." && pwd)
: "${SOURCE_DATE_EPOCH:=$(git -C "$here" log -1 --format=%ct 2>/dev/null || date +%s)}"
export SOURCE_DATE_EPOCH
version=$(sed -n 's/^#define RD_VERSION *"\(.*\)"/\1/p' "$here/base/version.h")
arch=$(dpkg --print-architecture)
when=$(date -u -d "@$SOURCE_DATE_EPOCH" '+%a, %d %b %Y %H:%M:%S +0000')
maintainer='The rundown authors <rundown@localhost>'
work=$(mktemp -d "${TMPDIR:-/tmp}/rundown-deb-XXXXXX")
trap 'rm -rf "$work"' EXIT
umask 022

# copied PACKAGE PATH...: files of the stage into the package's tree.
copied()
{
	package=$1
	shift
	mkdir -p "$work/$package"
	(cd "$stage" && tar cf - "$@") | (cd "$work/$package" && tar xf -)
}

# documented PACKAGE: what every package has in its folder of documents.
documented()
{
	folder=$work/$1/usr/share/doc/$1
	mkdir -p "$folder"
	cp "$here/deploy/debian/copyright" "$folder/copyright"
	printf 'rundown (%s) stable; urgency=medium\n\n  * As of the sources.\n\n -- %s  %s\n' "$version" "$maintainer" "$when" |
		gzip -9n >"$folder/changelog.gz"
}

# sealed PACKAGE DEPENDS RECOMMENDS DESCRIPTION: the package out of its tree.
sealed()
{
	tree=$work/$1
	mkdir -p "$tree/DEBIAN"
	(cd "$tree" && find . -path ./DEBIAN -prune -o -type f -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' md5sum) >"$work/md5sums"
	mv "$work/md5sums" "$tree/DEBIAN/md5sums"
	cat >"$tree/DEBIAN/control" <<END
Package: $1
Source: rundown
Version: $version
Architecture: $arch
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size --exclude=DEBIAN "$tree" | cut -f 1)
Depends: $2
${3:+Recommends: $3
}Section: devel
Priority: optional
Description: $4
END
	find "$tree" -type d -exec chmod 755 {} +
	find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	dpkg-deb --root-owner-group -Zxz --build "$tree" "$out/${1}_${version}_$arch.deb" >/dev/null
	echo "$out/${1}_${version}_$arch.deb"
}

# ---- rundown

copied rundown usr/bin usr/share/man usr/share/doc/rundown
rm -f "$work/rundown/usr/share/doc/rundown/LICENSE"
strip --strip-unneeded "$work"/rundown/usr/bin/*
find "$work/rundown/usr/share/man" -type f -exec gzip -9n {} +
documented rundown
# dpkg-shlibdeps wants a source package around it.
mkdir -p "$work/source/debian"
printf 'Source: rundown\n\nPackage: rundown\nArchitecture: any\n' >"$work/source/debian/control"
libraries=$(cd "$work/source" && dpkg-shlibdeps -O "$work"/rundown/usr/bin/* 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
sealed rundown "$libraries" libmicrohttpd12 'profiles out of big .NET and Windows traces
 Works through ETL and nettrace files, also those of processes that crashed, and
 tells where the time went, by method: on one machine by one command, or shared
 out to workers on many.'

# ---- rundown-services

copied rundown-services usr/lib/systemd usr/lib/sysusers.d
tree=$work/rundown-services
mkdir -p "$tree/etc/rundown" "$tree/usr/share/doc/rundown-services/examples" "$tree/DEBIAN"
cp "$stage/usr/share/rundown/rundown.env" "$tree/etc/rundown/rundown.env"
cp -r "$here/deploy/slurm" "$tree/usr/share/doc/rundown-services/examples/slurm"
documented rundown-services
echo /etc/rundown/rundown.env >"$tree/DEBIAN/conffiles"
for script in postinst prerm postrm; do
	install -m 755 "$here/deploy/debian/rundown-services.$script" "$tree/DEBIAN/$script"
done
sealed rundown-services "rundown (= $version), systemd | systemd-standalone-sysusers" '' 'rundown as services of a cluster
 Units of systemd for the broker, the merger, workers and nightly folders of
 traces, and scripts by which Slurm runs them. Nothing is started or enabled by
 installing this package.'

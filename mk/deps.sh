#!/bin/sh
# deps.sh PACKAGE... - install the Debian packages that are missing. Says nothing when none is.
set -eu

if ! command -v dpkg-query >/dev/null 2>&1; then
	# Not a Debian: the compiler will tell what is missing.
	exit 0
fi

missing=
for package; do
	case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || :) in
	installed) ;;
	*) missing="$missing $package" ;;
	esac
done
[ -n "$missing" ] || exit 0

sudo=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "rundown needs these packages; as root: apt-get install$missing" >&2
		exit 1
	fi
	sudo=sudo
fi
echo "installing:$missing"
# The package lists may be missing or old: look once more after an update.
install_missing()
{
	# shellcheck disable=SC2086
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing \
		</dev/null >"$log" 2>&1
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! install_missing; then
	$sudo apt-get update -qq </dev/null >"$log" 2>&1 && install_missing || {
		cat "$log" >&2
		exit 1
	}
fi

#!/bin/sh
# keys.sh DIR - Secrets and the list of who may come in, out of a folder of `rundown keys DIR`, for kubectl apply -f -
set -eu
keys=$1

# In base64, as the characters of keys mean something to YAML.
secret()
{
	name=$1
	shift
	printf 'apiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: rundown}\ntype: Opaque\ndata:\n' "$name"
	for file; do
		printf '  %s: %s\n' "${file##*/}" "$(base64 -w 0 "$file")"
	done
	echo ---
}
secret rundown-broker "$keys/server.secret"
for role in worker merger client; do
	secret rundown-$role "$keys/$role/$role.secret" "$keys/$role/server.public"
done
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: rundown-authorised, namespace: rundown}\nbinaryData:\n'
for file in "$keys"/authorised/*.public; do
	printf '  %s: %s\n' "${file##*/}" "$(base64 -w 0 "$file")"
done

#!/bin/sh
# authority.sh: makes a certificate authority (ca.pem) and, signed by it, the certificate of a service at localhost (service.pem, with
# the private key service.key), all in the working directory. The authority's own key is not kept.
set -eu
umask 077
curve="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
# shellcheck disable=SC2086 # a list of words
{
    openssl req -x509 $curve -keyout ca.key -out ca.pem -days 30 -subj "/CN=Sample authority" \
        -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign"
    openssl req $curve -keyout service.key -out service.csr -subj "/CN=localhost"
    printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n' >service.ext
    openssl x509 -req -in service.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile service.ext -out service.pem
} 2>openssl.log || { cat openssl.log >&2; exit 1; }
rm ca.key service.csr service.ext openssl.log

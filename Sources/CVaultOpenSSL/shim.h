#ifndef CVAULT_OPENSSL_SHIM_H
#define CVAULT_OPENSSL_SHIM_H

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

/// An HMAC context that knows its digest ("SHA256", "SHA512") and has no key yet; NULL on failure.
/// OSSL_PARAM holds borrowed, mutable pointers, which C expresses more simply than Swift.
static inline EVP_MAC_CTX *vault_hmac_new(const char *digest)
{
    EVP_MAC *mac = EVP_MAC_fetch(NULL, OSSL_MAC_NAME_HMAC, NULL);
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)digest, 0),
        OSSL_PARAM_construct_end(),
    };
    EVP_MAC_free(mac); /* the context keeps its own reference */
    if (context != NULL && EVP_MAC_CTX_set_params(context, parameters) != 1) {
        EVP_MAC_CTX_free(context);
        return NULL;
    }
    return context;
}

#endif

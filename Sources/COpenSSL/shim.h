/* OpenSSL 3, loaded on first use: nothing is linked, so a command that neither signs nor talks
   to a peer does not pay for loading it. Each table lists the functions used; the compiler takes
   their types from OpenSSL's own headers. */
#pragma once
#include <dlfcn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#define NOTES_QUOTED(text) #text
#define NOTES_STRING(text) NOTES_QUOTED(text)

#define NOTES_LIBCRYPTO(F) \
  /* errors, memory, randomness */ \
  F(OpenSSL_version) F(ERR_clear_error) F(ERR_get_error) F(ERR_reason_error_string) \
  F(OPENSSL_init_crypto) F(OPENSSL_sk_num) F(OPENSSL_sk_value) \
  F(RAND_bytes) \
  F(BIO_free) F(BIO_new) F(BIO_new_mem_buf) F(BIO_read) F(BIO_s_mem) \
  /* keys, digests, scrypt */ \
  F(EVP_Digest) F(EVP_DigestInit_ex) F(EVP_DigestUpdate) F(EVP_DigestFinal_ex) F(EVP_MD_fetch) \
  F(EVP_sha256) F(EVP_PBE_scrypt) F(EVP_PKEY_free) F(EVP_PKEY_get_id) \
  F(EVP_PKEY_get_raw_private_key) F(EVP_PKEY_get_raw_public_key) \
  F(EVP_PKEY_new_raw_private_key) F(EVP_PKEY_new_raw_public_key) \
  F(PEM_read_bio_PrivateKey) F(PEM_write_bio_PKCS8PrivateKey) \
  F(EVP_PKEY2PKCS8) F(PKCS8_PRIV_KEY_INFO_free) F(PKCS5_pbe2_set_scrypt) F(PKCS8_set0_pbe) \
  F(PEM_write_bio_PKCS8) F(X509_SIG_free) F(X509_ALGOR_free) F(EVP_aes_256_cbc) \
  /* ASN.1 values and names */ \
  F(ASN1_INTEGER_free) F(ASN1_OCTET_STRING_free) F(ASN1_OCTET_STRING_new) \
  F(ASN1_STRING_get0_data) F(ASN1_STRING_length) F(ASN1_STRING_set) F(ASN1_STRING_type) \
  F(ASN1_TIME_free) F(ASN1_TIME_set) F(ASN1_TIME_set_string_X509) \
  F(ASN1_TIME_to_tm) F(BN_bin2bn) F(BN_free) F(BN_to_ASN1_INTEGER) F(OBJ_obj2nid) F(OBJ_obj2txt) \
  F(OBJ_txt2obj) F(ASN1_OBJECT_free) \
  F(X509_NAME_add_entry_by_NID) F(i2d_X509_NAME) F(X509_NAME_ENTRY_get_data) \
  F(X509_NAME_ENTRY_get_object) F(X509_NAME_ENTRY_set) F(X509_NAME_entry_count) \
  F(X509_NAME_free) F(X509_NAME_get_entry) F(X509_NAME_new) \
  /* certificates */ \
  F(X509_add_ext) F(X509_free) F(X509_get0_notBefore) F(X509_get0_pubkey) \
  F(X509_get0_serialNumber) F(X509_get_ext) F(X509_get_ext_count) \
  F(X509_get_issuer_name) F(X509_get_signature_nid) F(X509_get_subject_name) \
  F(X509_get_version) F(X509_new) F(X509_set1_notAfter) F(X509_set1_notBefore) \
  F(X509_set_issuer_name) F(X509_set_pubkey) F(X509_set_serialNumber) \
  F(X509_set_subject_name) F(X509_set_version) F(X509_sign) F(X509_verify) F(d2i_X509) \
  F(i2d_X509) F(X509_EXTENSION_create_by_OBJ) F(X509_EXTENSION_free) \
  F(X509_EXTENSION_get_critical) F(X509_EXTENSION_get_data) F(X509_EXTENSION_get_object) \
  /* requests */ \
  F(X509_REQ_free) F(X509_REQ_get0_pubkey) F(X509_REQ_get_subject_name) F(X509_REQ_new) \
  F(X509_REQ_set_pubkey) F(X509_REQ_set_subject_name) F(X509_REQ_set_version) \
  F(X509_REQ_sign) F(X509_REQ_verify) F(d2i_X509_REQ) F(i2d_X509_REQ) \
  /* revocation lists */ \
  F(X509_CRL_add0_revoked) F(X509_CRL_add_ext) F(X509_CRL_free) F(X509_CRL_get_REVOKED) \
  F(X509_CRL_get_ext) F(X509_CRL_get_ext_count) \
  F(X509_CRL_get_issuer) F(X509_CRL_get_signature_nid) F(X509_CRL_get_version) \
  F(X509_CRL_new) F(X509_CRL_set1_lastUpdate) F(X509_CRL_set1_nextUpdate) \
  F(X509_CRL_set_issuer_name) F(X509_CRL_set_version) F(X509_CRL_sign) \
  F(X509_CRL_verify) F(X509_REVOKED_add_ext) F(X509_REVOKED_free) F(X509_REVOKED_get0_revocationDate) \
  F(X509_REVOKED_get0_serialNumber) F(X509_REVOKED_get_ext) \
  F(X509_REVOKED_get_ext_by_NID) \
  F(X509_REVOKED_new) F(X509_REVOKED_set_revocationDate) F(X509_REVOKED_set_serialNumber) \
  F(d2i_X509_CRL) F(i2d_X509_CRL) \
  /* chain verification */ \
  F(X509_STORE_CTX_get0_chain) \
  F(X509_STORE_CTX_get_ex_data) F(X509_STORE_CTX_set_error) \
  F(X509_STORE_CTX_set_flags) F(X509_STORE_add_cert) F(X509_verify_cert) \
  /* signatures over versions */ \
  F(EVP_sha512) F(EVP_MD_CTX_new) F(EVP_MD_CTX_free) F(EVP_DigestSignInit) F(EVP_DigestSign) \
  F(EVP_DigestVerifyInit) F(EVP_DigestVerify)

struct libcrypto {
#define F(name) __typeof__(name) *_Nonnull name;
  NOTES_LIBCRYPTO(F)
#undef F
};

#define NOTES_LIBSSL(F) \
  F(OPENSSL_init_ssl) F(TLS_client_method) F(TLS_server_method) \
  F(SSL_CTX_check_private_key) F(SSL_CTX_ctrl) F(SSL_CTX_free) F(SSL_CTX_get_cert_store) \
  F(SSL_CTX_new) F(SSL_CTX_set_alpn_protos) F(SSL_CTX_set_alpn_select_cb) \
  F(SSL_CTX_set_cert_verify_callback) F(SSL_CTX_set_ciphersuites) \
  F(SSL_CTX_set_client_hello_cb) F(SSL_CTX_set_num_tickets) F(SSL_CTX_set_options) \
  F(SSL_CTX_set_psk_use_session_callback) F(SSL_CTX_set_verify) F(SSL_CTX_set_verify_depth) \
  F(SSL_CTX_use_PrivateKey) F(SSL_CTX_use_certificate) F(SSL_SESSION_free) \
  F(SSL_SESSION_new) F(SSL_SESSION_set1_master_key) F(SSL_SESSION_set_cipher) \
  F(SSL_SESSION_set_protocol_version) F(SSL_CIPHER_find) F(SSL_accept) \
  F(SSL_client_hello_get0_ext) F(SSL_connect) F(SSL_ctrl) \
  F(SSL_free) F(SSL_get0_alpn_selected) F(SSL_get_error) \
  F(SSL_get_ex_data) F(SSL_get_ex_data_X509_STORE_CTX_idx) \
  F(SSL_new) F(SSL_read) F(SSL_select_next_proto) F(SSL_session_reused) \
  F(SSL_set_SSL_CTX) F(SSL_set_ciphersuites) F(SSL_set_ex_data) F(SSL_set_fd) \
  F(SSL_set_psk_find_session_callback) F(SSL_set_verify) F(SSL_set_verify_depth) \
  F(SSL_shutdown) F(SSL_write)

struct libssl {
#define F(name) __typeof__(name) *_Nonnull name;
  NOTES_LIBSSL(F)
#undef F
};

/// Fills `api` from libcrypto, without loading the system's openssl.cnf; returns NULL, or a message about
/// what is missing.
static inline const char *_Nullable libcrypto_load(struct libcrypto *_Nonnull api) {
  void *library = dlopen("libcrypto.so." NOTES_STRING(OPENSSL_SHLIB_VERSION), RTLD_NOW);
  if (!library) return dlerror();
#define F(name) \
  if (!(*(void **)&api->name = dlsym(library, #name))) return dlerror();
  NOTES_LIBCRYPTO(F)
#undef F
  api->OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, 0);
  return 0;
}

/// Fills `api` from libssl, after `libcrypto_load`. Returns NULL, or a message about what is missing.
static inline const char *_Nullable libssl_load(struct libssl *_Nonnull api) {
  void *library = dlopen("libssl.so." NOTES_STRING(OPENSSL_SHLIB_VERSION), RTLD_NOW);
  if (!library) return dlerror();
#define F(name) \
  if (!(*(void **)&api->name = dlsym(library, #name))) return dlerror();
  NOTES_LIBSSL(F)
#undef F
  api->OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, 0);
  return 0;
}

/* The additional functions for a page for browsers, which only the program that serves one loads. */
#define NOTES_LIBCRYPTO_PAGE(F) \
  F(BIO_write) F(EVP_PKEY_CTX_free) F(EVP_PKEY_CTX_new_id) F(EVP_PKEY_CTX_set_group_name) \
  F(EVP_PKEY_generate) F(EVP_PKEY_get_bits) F(EVP_PKEY_keygen_init) F(PEM_read_bio_X509) \
  F(PEM_write_bio_X509) F(X509_check_private_key) F(i2d_PUBKEY)

struct libcrypto_page {
#define F(name) __typeof__(name) *_Nonnull name;
  NOTES_LIBCRYPTO_PAGE(F)
#undef F
};

#define NOTES_LIBSSL_PAGE(F) \
  F(SSL_CTX_set_cipher_list) F(SSL_set_bio)

struct libssl_page {
#define F(name) __typeof__(name) *_Nonnull name;
  NOTES_LIBSSL_PAGE(F)
#undef F
};

/// Fills `api`, after `libcrypto_load`. Returns NULL, or a message about what is missing.
static inline const char *_Nullable libcrypto_page_load(struct libcrypto_page *_Nonnull api) {
  void *library = dlopen("libcrypto.so." NOTES_STRING(OPENSSL_SHLIB_VERSION), RTLD_NOW);
  if (!library) return dlerror();
#define F(name) \
  if (!(*(void **)&api->name = dlsym(library, #name))) return dlerror();
  NOTES_LIBCRYPTO_PAGE(F)
#undef F
  return 0;
}

/// Fills `api`, after `libssl_load`. Returns NULL, or a message about what is missing.
static inline const char *_Nullable libssl_page_load(struct libssl_page *_Nonnull api) {
  void *library = dlopen("libssl.so." NOTES_STRING(OPENSSL_SHLIB_VERSION), RTLD_NOW);
  if (!library) return dlerror();
#define F(name) \
  if (!(*(void **)&api->name = dlsym(library, #name))) return dlerror();
  NOTES_LIBSSL_PAGE(F)
#undef F
  return 0;
}

/* Values of macros that Swift cannot import. */
static const uint64_t NOTES_SSL_OPTIONS =
    SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION;
#define NOTES_SSL_MODES_OF (SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)
static const uint64_t NOTES_SSL_MODES = NOTES_SSL_MODES_OF;
/* Without another chain to send, OpenSSL would add a trusted certificate: the root. */
static const uint64_t NOTES_SSL_MEMBER_MODES = NOTES_SSL_MODES_OF | SSL_MODE_NO_AUTO_CHAIN;
static const unsigned long NOTES_NO_CHECK_TIME = X509_V_FLAG_NO_CHECK_TIME;

#pragma once
#include <dlfcn.h>
#include <openssl/ssl.h>

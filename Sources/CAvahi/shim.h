#pragma once
#include <avahi-client/client.h>
#include <dlfcn.h>

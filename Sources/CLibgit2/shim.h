#pragma once
#include <dlfcn.h>
#include <git2.h>

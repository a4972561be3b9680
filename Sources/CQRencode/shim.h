/* Codes that cameras read, as libqrencode makes them: linked, as notes-web alone draws any. */
#pragma once
#include <qrencode.h>

#pragma once
// COTERIE_API marks what libcoterie.so exports. The library is compiled with hidden visibility, so names without the
// macro can be used only inside it. Classes also need the macro: only then can callers catch exceptions and use
// dynamic_cast across the library boundary.

#if defined(__GNUC__)
#define COTERIE_API __attribute__((visibility("default")))
#else
#define COTERIE_API
#endif

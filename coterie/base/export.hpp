#pragma once
// COTERIE_API marks what libcoterie.so exports. The library is compiled with hidden visibility, so names without the
// macro are usable only inside it. Classes have the macro too, so that their type is the same on both sides of the
// library boundary. This lets callers catch the exceptions and use dynamic_cast.

#if defined(__GNUC__)
#define COTERIE_API __attribute__((visibility("default")))
#else
#define COTERIE_API
#endif

#pragma once
// COTERIE_API: what libcoterie.so exports. It is compiled with hidden visibility; without the macro a name can be used
// inside of it only. Classes bear it, too, so that their type is one on both sides of the border: exceptions are caught
// and dynamic_cast works.

#if defined(__GNUC__)
#define COTERIE_API __attribute__((visibility("default")))
#else
#define COTERIE_API
#endif

// Catch2, whichever of its two layouts is installed: version 3 in many headers, version 2 in one.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

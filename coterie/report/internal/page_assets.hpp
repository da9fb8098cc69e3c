#pragma once
// Internal: the scripts that a page holds, as CMake took them from vendor/, map.js and charts.js.

#include <string_view>

namespace coterie::internal {

extern const std::string_view
    page_scripts[3];  // in the order in which they must stand: regl, pub-sub-es, regl-scatterplot
extern const std::string_view page_map_script;
extern const std::string_view page_charts_library;  // uPlot, then its style and what draws with it
extern const std::string_view page_charts_style;
extern const std::string_view page_charts_script;

}  // namespace coterie::internal

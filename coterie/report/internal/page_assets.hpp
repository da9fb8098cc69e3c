#pragma once
// Internal: the scripts of a page, as CMake embeds them from vendor/, map.js and charts.js.

#include <string_view>

namespace coterie::report::internal {

extern const std::string_view page_scripts[3];  // in this order: regl, pub-sub-es, regl-scatterplot
extern const std::string_view page_map_script;
extern const std::string_view page_charts_library;  // uPlot; next: its style, and the script that uses it
extern const std::string_view page_charts_style;
extern const std::string_view page_charts_script;

}  // namespace coterie::report::internal

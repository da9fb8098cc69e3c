#pragma once
// A fit, a model applied to points, a search or a comparison as a self-contained HTML page. It loads nothing, has a
// light and a dark style, and is readable without scripts.

#include <functional>
#include <string>
#include <string_view>

#include "coterie/base/export.hpp"
#include "coterie/report/document.hpp"
#include "coterie/selection/compare_methods.hpp"
#include "coterie/selection/tune.hpp"

namespace coterie {

/// `picture`: an SVG for the page, or empty. `map`: page_map() or empty; it replaces the picture if the browser can
/// draw it. `search`: page_search() of the search that chose this fit, or empty. `name_of_option`: gives the name of an
/// option in the reader's command; without it, options have their own names and the page mentions no command.
COTERIE_API std::string html_document(const FitResult& result, const std::string& picture,
                                      const std::function<std::string(std::string_view)>& name_of_option = {},
                                      const std::string& map = {}, const std::string& search = {});
/// The same for a model applied to points. The result needs a description.
COTERIE_API std::string html_document(const AppliedResult& result, const std::string& picture,
                                      const std::function<std::string(std::string_view)>& name_of_option = {},
                                      const std::string& map = {}, const std::string& search = {});

/// The results of a search, for the page of the fit that it chose: the chosen cell, every cell (if there are more than
/// 2,000, only the best), the reasons of failed cells, and the criterion over the numbers of clusters if these vary.
COTERIE_API std::string page_search(const TuneOptions& asked, const TuneResult& found);

/// A comparison of methods: what each found, how far they agree, and the methods that were not compared, with the
/// reason. `picture` and `map` (comparison_drawings) as above.
COTERIE_API std::string html_document(const Comparison& comparison, const std::string& source,
                                      const std::string& picture = {}, const std::string& map = {});

}  // namespace coterie

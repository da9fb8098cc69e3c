#pragma once
// A fit, what a model is in some points, a search or a comparison as a page of HTML that stands alone: nothing fetched,
// light and dark, readable without scripts.

#include <functional>
#include <string>
#include <string_view>

#include "coterie/base/export.hpp"
#include "coterie/report/document.hpp"
#include "coterie/selection/compare_methods.hpp"
#include "coterie/selection/tune.hpp"

namespace coterie {

/// `picture`: SVG to stand in it, or empty. `map`: page_map(), which takes the picture's place where it can be drawn,
/// or empty. `search`: page_search() of the search that chose what was fitted, or empty. `name_of_option`: what options
/// are called by the command that the reader has; without it they have their own names, and no command is spoken of.
COTERIE_API std::string page(const FitResult& result, const std::string& picture,
                             const std::function<std::string(std::string_view)>& name_of_option = {},
                             const std::string& map = {}, const std::string& search = {});
/// The same of points that a model was applied to, with a description.
COTERIE_API std::string page(const AppliedResult& result, const std::string& picture,
                             const std::function<std::string(std::string_view)>& name_of_option = {},
                             const std::string& map = {}, const std::string& search = {});

/// What a search found, for the page of the fit that it chose: which cell was chosen, every cell (the best 2,000 where
/// there are more), why some were refused, and the criterion over the numbers of clusters where these vary.
COTERIE_API std::string page_search(const TuneOptions& asked, const TuneResult& found);

/// Methods side by side: what each found, how far they agree, and which were not compared, and why. `picture` and
/// `map` (comparison_map) as above.
COTERIE_API std::string page(const Comparison& comparison, const std::string& source, const std::string& picture = {},
                             const std::string& map = {});

}  // namespace coterie

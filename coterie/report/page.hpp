#pragma once
// A fit, or what a model is in some points, as a page of HTML that stands alone: nothing fetched, light and dark,
// readable without scripts.

#include <functional>
#include <string>
#include <string_view>

#include "coterie/base/export.hpp"
#include "coterie/pipeline/document.hpp"

namespace coterie {

/// `picture`: SVG to stand in it, or empty. `map`: page_map(), which takes the picture's place where it can be drawn,
/// or empty. `name_of_option`: what options are called by the command that the reader has; without it they have their
/// own names, and no command is spoken of.
COTERIE_API std::string page(const FitResult& result, const std::string& picture,
                             const std::function<std::string(std::string_view)>& name_of_option = {},
                             const std::string& map = {});
/// The same of points that a model was applied to, with a description.
COTERIE_API std::string page(const AppliedResult& result, const std::string& picture,
                             const std::function<std::string(std::string_view)>& name_of_option = {},
                             const std::string& map = {});

}  // namespace coterie

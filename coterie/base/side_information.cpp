#include "coterie/base/side_information.hpp"

#include "coterie/base/error.hpp"

namespace coterie {

void refuse_constraints(const SideInformation& side, std::string_view method) {
    const auto refuse = [&](const char* what) {
        throw BadArgument("method " + std::string(method) + " takes no " + what);
    };
    if (!side.partial_labels.empty()) refuse("partial labels");
    if (!side.clusters_per_label.empty()) refuse("clusters per label");
    if (!side.group_shares.empty()) refuse("group shares");
    if (side.sizes) refuse("size bounds");
}

}  // namespace coterie

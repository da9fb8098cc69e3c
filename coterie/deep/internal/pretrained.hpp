#pragma once
// Internal: reads a classifier's network without its head from a file. The file is another classifier's model or, for
// ResNet-18, weights with torchvision's names (conv1.weight, bn1.running_mean, layer2.0.downsample.0.weight, ...). All
// names may have a common prefix ("module.", "backbone.").

#include <string>

#include "coterie/deep/network.hpp"

namespace coterie::deep::internal {

using namespace coterie::internal;

/// torchvision's names of a ResNet-18's tensors, in the order of Parameters, without the head's.
std::vector<std::string> resnet18_names(const Architecture& architecture);

/// Replaces all of `parameters` except the head's by the tensors of a safetensors file. Throws BadData (not such a
/// file, a tensor is missing or has another size, numbers that are not finite), ResourceError.
void read_trunk(const std::string& path, const Architecture& classifier, bool is_resnet18, Parameters& parameters);

/// The unit of a network's points (Network::set_unit). If `pretrained` names a model of coterie, its unit. If it names
/// weights of another program, 1, because they expect the values on which they were trained. Otherwise unit_of(points).
/// Errors in the file are reported where it is read. Call this on every process.
double unit_for(const std::string& pretrained, PointsView points, const Run& run);

}  // namespace coterie::deep::internal

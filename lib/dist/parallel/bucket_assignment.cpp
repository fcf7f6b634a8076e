#include "dist/parallel/bucket_assignment.h"

#include <algorithm>

namespace dist {
namespace {

// The bucket of one dtype and device that is being filled.
struct Filling {
  DType dtype;
  Device device;
  std::vector<std::size_t> bucket;
  std::size_t bytes = 0;
  std::size_t closed = 0;  // number of earlier buckets

  bool takes(const GradientSize& gradient) const {
    return gradient.dtype == dtype && gradient.device == device;
  }
};

}  // namespace

std::vector<std::vector<std::size_t>> assign_buckets(std::span<const GradientSize> gradients,
                                                     std::span<const std::size_t> limits) {
  std::vector<std::vector<std::size_t>> buckets;
  std::vector<Filling> fillings;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    auto filling = std::ranges::find_if(fillings, [&](const Filling& f) { return f.takes(gradients[i]); });
    if (filling == fillings.end())
      filling = fillings.insert(fillings.end(), {gradients[i].dtype, gradients[i].device, {}});
    filling->bucket.push_back(i);
    filling->bytes += gradients[i].bytes;
    if (limits.empty() || filling->bytes < limits[std::min(filling->closed, limits.size() - 1)]) continue;
    buckets.push_back(std::move(filling->bucket));
    filling->bucket.clear();
    filling->bytes = 0;
    ++filling->closed;
  }
  for (auto& filling : fillings)
    if (!filling.bucket.empty()) buckets.push_back(std::move(filling.bucket));
  std::ranges::sort(buckets, {}, [](const auto& bucket) { return bucket.front(); });
  return buckets;
}

}  // namespace dist

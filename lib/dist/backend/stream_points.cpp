#include "dist/backend/stream_points.h"

#include <utility>

namespace dist {

std::shared_ptr<StreamPoints> StreamPointsPool::take(Device device) {
  std::unique_ptr<StreamPoints> points;
  {
    const std::scoped_lock lock(spare_->mutex);
    if (!spare_->points.empty()) {
      points = std::move(spare_->points.back());
      spare_->points.pop_back();
    }
  }
  if (!points) points = std::make_unique<StreamPoints>(device);
  return {points.release(), [spare = spare_](StreamPoints* unused) {
            std::unique_ptr<StreamPoints> owned(unused);
            const std::scoped_lock lock(spare->mutex);
            spare->points.push_back(std::move(owned));
          }};
}

}  // namespace dist

#include "dist/backend/stream_events.h"

#include <utility>

namespace dist {

std::shared_ptr<StreamEvents> StreamEventsPool::take(Device device) {
  std::unique_ptr<StreamEvents> points;
  {
    const std::scoped_lock lock(spare_->mutex);
    if (!spare_->points.empty()) {
      points = std::move(spare_->points.back());
      spare_->points.pop_back();
    }
  }
  if (!points) points = std::make_unique<StreamEvents>(device);
  return {points.release(), [spare = spare_](StreamEvents* unused) {
            std::unique_ptr<StreamEvents> owned(unused);
            const std::scoped_lock lock(spare->mutex);
            spare->points.push_back(std::move(owned));
          }};
}

}  // namespace dist

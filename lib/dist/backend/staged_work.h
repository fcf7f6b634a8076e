// A message whose tensor has a copy on the host.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "dist/backend/staging.h"
#include "dist/backend/work.h"

namespace dist {

class StagedWork final : public WorkState {
 public:
  StagedWork(StagedOperation staged, std::shared_ptr<WorkState> host)
      : staged_(std::move(staged)), host_(std::move(host)) {}
  void wait(Timeout timeout) override {
    host_->wait(timeout);
    const std::scoped_lock lock(mutex_);
    if (!copied_) staged_.copy_back();
    copied_ = true;
  }
  bool is_completed() override { return host_->is_completed(); }
  int source_rank() override { return host_->source_rank(); }

 private:
  std::mutex mutex_;
  bool copied_ = false;
  StagedOperation staged_;
  const std::shared_ptr<WorkState> host_;
};

}  // namespace dist

// The Works of the "cuda" backend.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "dist/backend/collective_work.h"
#include "dist/backend/staging.h"
#include "dist/backend/stream_watch.h"
#include "dist/backend/work.h"

namespace dist {

// A collective: wait() waits on the host until all is enqueued, then the current stream waits for the rest.
class StreamWork final : public WorkState {
 public:
  StreamWork(std::shared_ptr<CollectiveWork> host, std::shared_ptr<StreamPoints> points)
      : host_(std::move(host)), points_(std::move(points)) {}
  void wait(Timeout timeout) override {
    host_->wait(timeout);
    points_->done.make_wait(points_->device, current_stream(points_->device));
  }
  bool is_completed() override { return host_->is_completed() && points_->done.is_done(); }

 private:
  const std::shared_ptr<CollectiveWork> host_;
  const std::shared_ptr<StreamPoints> points_;
};

// A message whose tensor has a twin on the host.
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

#include "dist/backend/breakage.h"

#include "dist/backend/collective_work.h"
#include "dist/check/finding.h"
#include "dist/core/fail.h"

namespace dist {

void Breakage::set(const std::exception& error) {
  const std::scoped_lock lock(mutex_);
  if (reason_.empty()) reason_ = check::without_finding(error.what());
  broken_ = true;
}

void Breakage::explain(const std::exception& error, const std::exception& told) {
  const std::scoped_lock lock(mutex_);
  if (reason_ == check::without_finding(error.what())) reason_ = check::without_finding(told.what());
}

void Breakage::fail(const BackendContext& context, const Operation& operation) const {
  const std::scoped_lock lock(mutex_);
  dist::fail(Errc::aborted, "rank {}: {} was given up: an earlier collective of this group failed: {}",
             context.members[context.rank], describe(operation), reason_);
}

}  // namespace dist

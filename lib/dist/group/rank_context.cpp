#include "dist/group/rank_context.h"

#include <atomic>

#include "dist/core/rank_label.h"

namespace dist {
namespace {

// Never destroyed, because threads and handles in static storage may outlive main.
RankContext*& process_context() {
  static RankContext* context = new RankContext;
  return context;
}

std::atomic<int> others_than_the_process{0};  // guards of ranks that are threads or fibers

}  // namespace

// A simulated rank has one thread, and its fibers may not hold a lock while others run.
std::unique_lock<std::mutex> RankContext::turn() {
  return virtual_world ? std::unique_lock<std::mutex>() : std::unique_lock(turn_);
}

std::unique_lock<std::mutex> RankContext::try_turn() { return std::unique_lock(turn_, std::try_to_lock); }

RankContext& process_rank_context() { return *process_context(); }

RankContext& renew_process_rank_context() { return *(process_context() = new RankContext); }

RankContext& rank_context() {
  auto* const context = static_cast<RankContext*>(current_rank().context);
  return context ? *context : process_rank_context();
}

RankContextGuard::RankContextGuard(RankContext& context)
    : before_(current_rank().context), is_process_(&context == &process_rank_context()) {
  current_rank().context = &context;
  if (!is_process_) ++others_than_the_process;
}

RankContextGuard::~RankContextGuard() {
  current_rank().context = before_;
  if (!is_process_) --others_than_the_process;
}

bool is_beside_ranks() { return current_rank().context == nullptr && others_than_the_process > 0; }

}  // namespace dist

#include "dist/group/rank_context.h"

namespace dist {
namespace {

thread_local RankContext* of_this_thread = nullptr;

}  // namespace

RankContext& process_rank_context() {
  // Never destroyed: threads and handles in static storage may outlive main.
  static RankContext* const context = new RankContext;
  return *context;
}

RankContext& rank_context() { return of_this_thread ? *of_this_thread : process_rank_context(); }

RankContextGuard::RankContextGuard(RankContext& context) : before_(of_this_thread) {
  of_this_thread = &context;
}

RankContextGuard::~RankContextGuard() { of_this_thread = before_; }

}  // namespace dist

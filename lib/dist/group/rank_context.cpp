#include "dist/group/rank_context.h"

#include "dist/core/rank_label.h"

namespace dist {
RankContext& process_rank_context() {
  // Never destroyed: threads and handles in static storage may outlive main.
  static RankContext* const context = new RankContext;
  return *context;
}

RankContext& rank_context() {
  auto* const context = static_cast<RankContext*>(current_rank().context);
  return context ? *context : process_rank_context();
}

RankContextGuard::RankContextGuard(RankContext& context) : before_(current_rank().context) {
  current_rank().context = &context;
}

RankContextGuard::~RankContextGuard() { current_rank().context = before_; }

}  // namespace dist

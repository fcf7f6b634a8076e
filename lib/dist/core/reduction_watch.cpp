#include "dist/core/reduction_watch.h"

#include <utility>

namespace dist {
namespace {

thread_local ReductionWatch* current_watch = nullptr;

}  // namespace

ReductionWatch* ReductionWatch::current() { return current_watch; }
ReductionWatch* ReductionWatch::exchange_current(ReductionWatch* watch) {
  return std::exchange(current_watch, watch);
}

}  // namespace dist

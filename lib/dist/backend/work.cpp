#include "dist/backend/work.h"

namespace dist {

std::exception_ptr Work::exception() {
  if (!is_completed()) return nullptr;
  try {
    wait();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace dist

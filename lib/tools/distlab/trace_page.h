// A trace as a page: one HTML file that plays it, with everything it needs inside.
#pragma once

#include <string>

#include "dist/trace/event.h"

namespace distlab {

// For any browser, without a network. slides/player is where its looks come from.
std::string trace_page(const dist::trace::Trace& trace);

}  // namespace distlab

// A trace as a page: one HTML file that plays it and needs no other file.
#pragma once

#include <string>

#include "dist/trace/event.h"

namespace distlab {

// Works in any browser, without a network. slides/player has the source of the page.
std::string trace_page(const dist::trace::Trace& trace);

}  // namespace distlab

// The scenes of ./distlab show. Each is a real run, drawn for a lecture hall: it prints what it shows, and
// returns the trace for an animation, which has no events if there is nothing to animate.
#pragma once

#include <string>

#include "dist/trace/event.h"

namespace distlab::show {

dist::trace::Trace ring();
dist::trace::Trace tree();
dist::trace::Trace double_tree();
dist::trace::Trace deadlock();
dist::trace::Trace overlap();
dist::trace::Trace scale();
dist::trace::Trace ddp();

// Prints "  text", broken to the width of the terminal.
void say(const std::string& text);
// Prints the picture of a run, as wide as the terminal.
void draw(const dist::trace::Trace& trace);

}  // namespace distlab::show

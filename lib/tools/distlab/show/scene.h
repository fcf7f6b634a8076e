// The scenes of ./distlab show: each a real run, drawn for a lecture hall. A scene prints what it shows and
// returns the trace that an animation is made of; without events where there is none to see.
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

// "  text", broken to the width of the terminal.
void say(const std::string& text);
// The picture of a run, as wide as the terminal.
void draw(const dist::trace::Trace& trace);

}  // namespace distlab::show

// What `./distlab` alone prints: what to do first, and on every later day what comes next.
#pragma once

#include <string>
#include <vector>

#include "distlab/labs.h"
#include "distlab/progress.h"

namespace distlab {

// Returns the page for a student who has this progress in these labs (at least one).
std::string welcome_page(const std::vector<Lab>& labs, const Progress& progress);

// Prints the page for this checkout. Returns false, and prints nothing, when there is no checkout.
bool print_welcome();

}  // namespace distlab

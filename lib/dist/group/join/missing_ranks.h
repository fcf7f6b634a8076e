// Which ranks did not come to a joining.
#pragma once

#include <string>

#include "dist/group/join/rendezvous.h"

namespace dist {

// For a joining whose time is up: "3 of 4 ranks joined within ...; missing: rank 2; ...".
std::string describe_missing(const Job& job);

}  // namespace dist

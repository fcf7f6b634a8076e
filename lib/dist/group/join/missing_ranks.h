// Which ranks did not come to a joining, and which cannot come any more because they have ended.
#pragma once

#include <optional>
#include <string>

#include "dist/group/join/rendezvous.h"
#include "dist/group/join/rendezvous_plan.h"

namespace dist {

// For a joining whose time is up: "3 of 4 ranks joined within ...; missing: rank 2; ...".
std::string describe_missing(const Job& job);

// The verdict when a rank will not come to the joining of `job` at this place because it has ended before.
// Called by ranks that join, after they have stated the world size, and by launchers, after they have noted
// an end: so one of the two knows of both.
std::optional<Verdict> without_those_who_ended(Store& base, Store& place, const Job& job);

}  // namespace dist

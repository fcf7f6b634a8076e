// Which devices the ranks have, and so which backend "auto" means. (The source also has what messages cost
// here, by which algorithms are chosen.)
#pragma once

#include <string>

#include "dist/backend/auto_choice.h"
#include "dist/core/call_site.h"
#include "dist/group/control.h"
#include "dist/group/join/rendezvous.h"
#include "dist/group/join/settings.h"

namespace dist {

// Error{unsupported} says why there is no GPU. To be called before any other rank is met, because without
// this rank there is no job.
void require_gpu(CallSite where);
// What the other ranks must know about this rank's devices.
RankDevice device_here(const Settings& settings, const Job& job);
// The backend that "auto" means. The second line of each rank's message says what the rank has.
std::string chosen_by_all(const Exchanged& exchanged);

}  // namespace dist

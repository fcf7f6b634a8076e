// Which devices the ranks have, and so which backend "auto" means.
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
// What this rank has, as the other ranks must know it.
RankDevice device_here(const Settings& settings, const Job& job);
// The backend that "auto" means. Each rank has said what it has in the second line of its message.
std::string chosen_by_all(const Exchanged& exchanged);

}  // namespace dist

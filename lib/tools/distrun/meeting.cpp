#include "meeting.h"

#include <chrono>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "dist/core/fail.h"

#include "machine.h"

namespace distrun {
namespace {

using dist::Deadline;
using dist::Errc;

// All nodes must know the token before they can talk to each other. On one node a random token will do. For
// several nodes it is made from the job's name, unless DIST_JOB_TOKEN is set on all of them.
std::string job_token(const Options& options) {
  const char* given = std::getenv("DIST_JOB_TOKEN");
  if (options.nodes == 1) return random_token();
  return given != nullptr ? given : "distrun:" + options.run_id;
}

}  // namespace

Meeting::Meeting(const Options& options, Outlet& err)
    : options_(options), err_(err), address_("tcp://127.0.0.1:0"), token_(job_token(options)) {
  if (options.nodes > 1) {
    address_ = fmt::format("tcp://{}:{}", options.endpoint_host, options.endpoint_port);
    return;
  }
  server_ = std::make_unique<dist::StoreServer>(address_, token_);
  address_ = server_->address();
}

bool Meeting::is_here() const { return is_this_machine(options_.endpoint_host); }

// A name may lead to this machine although no local interface has its address (the name of a service, or of a
// network around this machine): then node 0 hosts the store.
bool Meeting::keeps() const { return options_.hosts_endpoint.value_or(options_.node_rank == 0 || is_here()); }

bool Meeting::must_keep() const {
  return options_.hosts_endpoint.value_or(options_.node_rank == 0 && is_here());
}

bool Meeting::try_to_keep() try {
  server_ = std::make_unique<dist::StoreServer>(address_, token_);
  return true;
} catch (const dist::Error& error) {
  if (error.code() != Errc::resource) throw;
  constexpr std::string_view store = "store: ";
  taken_ = error.what();
  if (taken_.starts_with(store)) taken_.erase(0, store.size());
  return false;
}

void Meeting::say_taken(double seconds_left) {
  err_.say(fmt::format("{}; trying for {:.0f} s more, in case the port becomes free", taken_, seconds_left));
}

// Another distrun of this machine may have the port and host the store; or a connection happened to get this
// port and ends soon. We cannot tell which, so we alternately try to connect and to listen.
std::shared_ptr<dist::Store> Meeting::reach(Deadline deadline) {
  constexpr dist::Timeout turn = std::chrono::seconds(1);
  for (bool is_said = false;;) {
    const bool has_another_way = keeps() && !server_ && !try_to_keep();
    const Deadline patience = has_another_way ? Deadline::sooner(deadline, Deadline::after(turn)) : deadline;
    try {
      return dist::make_tcp_store(address_, token_, patience);
    } catch (const dist::Error& error) {
      if (!has_another_way) throw;
      const bool was_refused = !patience.passed();
      if (was_refused) throw dist::Error(error.code(), fmt::format("{} ({})", error.what(), taken_));
    }
    if (must_keep() || deadline.passed()) {
      throw dist::Error(
          Errc::resource,
          fmt::format("distrun: {}, and the program that has it is not a distrun; choose another port",
                      taken_));
    }
    if (!is_said) say_taken(std::chrono::duration<double>(deadline.left()).count());
    is_said = true;
  }
}

std::shared_ptr<dist::Store> Meeting::reach(Deadline deadline, const dist::LastWill& will) const {
  return dist::make_tcp_store(address_, token_, deadline, will);
}

}  // namespace distrun

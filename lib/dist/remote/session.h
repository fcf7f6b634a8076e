// Session: the simulation's side of one remote rank. Each task of the process has a fiber here, which does
// what the task asks for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dist/core/tasking.h"
#include "dist/launch/simulation.h"
#include "dist/remote/channel.h"
#include "dist/remote/host.h"
#include "dist/remote/protocol.h"

namespace dist::sim {

// The bytes of a message in flight.
class Parcel {
 public:
  Parcel(std::size_t& held, std::size_t bytes) : held_(held), bytes_(bytes) { held_ += bytes; }
  ~Parcel() { held_ -= bytes_.size(); }
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;
  std::span<std::byte> bytes() { return bytes_; }

 private:
  std::size_t& held_;
  Bytes bytes_;
};

struct Transfer {
  std::unique_ptr<Parcel> parcel;
  bool receives = false;
  Request request = {};  // destroyed first
};

struct OpenTransport {
  std::shared_ptr<Endpoint> endpoint;  // outlives its transport, even if the process has closed it
  std::unique_ptr<Transport> transport;
  std::map<std::uint64_t, Transfer> transfers = {};  // destroyed first
};

// The answer to a task.
struct Response {
  wire::Writer message{Answer::ok};
  std::unique_ptr<Parcel> parcel = {};  // follows the message
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(int of, Simulation& in, const ProcessOptions& with) : rank(of), simulation(in), options(with) {}

  // Serves the process's main task until it says that it has ended. Throws the error with which the task
  // failed, and Error{connection} when the process is gone, silent, or sends nonsense.
  void serve(UniqueFd socket);

  // What the verbs work on:
  const int rank;
  Simulation& simulation;
  const ProcessOptions options;
  std::uint64_t numbers = 0;  // transports and transfers so far
  std::size_t bytes_under_way = 0;
  std::vector<std::shared_ptr<Endpoint>> endpoints;                    // null: closed
  std::map<std::uint64_t, std::shared_ptr<OpenTransport>> transports;  // may be closed while a task waits
  std::set<std::pair<std::string, std::string>> opened_by;  // name and line: the simulation keeps them
  std::map<std::uint64_t, WaitList> lists;                  // by address in the process
  int tasks = 1;
  std::optional<Error> failure;  // the error of the rank's function

  int ranks() const { return simulation.ranks(); }
  void start_task(UniqueFd socket);

 private:
  void serve_task(Channel& channel);
  void answer(Verb verb, wire::Reader& question, Channel& channel);
  void give_up(const std::string& why) noexcept;  // the other ranks are notified
};

// The handlers of all verbs; those for the life of a task are the session's own.
struct Asked {
  Session& session;
  wire::Reader& question;
  Channel& channel;  // a message's bytes follow on it, and a descriptor may have come
};
using Verbs = std::map<Verb, void (*)(const Asked&, Response&)>;
const Verbs& tasking_verbs();
const Verbs& world_verbs();
const Verbs& transport_verbs();

}  // namespace dist::sim

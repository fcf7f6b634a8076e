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
#include "dist/simulate/remote/channel.h"
#include "dist/simulate/remote/host.h"
#include "dist/simulate/remote/protocol.h"
#include "dist/simulate/simulation.h"

namespace dist::sim {

// The bytes of a message under way. A receive may promise room for more than ever comes: pages take memory
// when they are written, and not before.
class Parcel {
 public:
  // `held`: of all ranks; outlives the parcel with its session.
  Parcel(std::size_t& held, std::size_t bytes);
  ~Parcel();
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;
  std::span<std::byte> bytes() { return bytes_; }

 private:
  std::size_t& held_;
  Bytes small_;
  std::span<std::byte> bytes_;
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
  // `all`: the bytes of all ranks' messages under way.
  Session(int of, Simulation& in, const ProcessOptions& with, std::size_t& all)
      : rank(of), simulation(in), options(with), bytes_under_way(all) {}

  // Serves the process's main task until it says that it has ended. Throws the error with which the task
  // failed, and Error{connection} when the process is gone, silent, or sends nonsense.
  void serve(UniqueFd socket);

  // What the verbs work on:
  const int rank;
  Simulation& simulation;
  const ProcessOptions options;
  std::size_t& bytes_under_way;
  std::uint64_t numbers = 0;                                           // of transports and transfers
  std::vector<std::shared_ptr<Endpoint>> endpoints;                    // null: closed
  std::map<std::uint64_t, std::shared_ptr<OpenTransport>> transports;  // may be closed while a task waits
  std::set<std::pair<std::string, std::string>> opened_by;  // name and line: the simulation keeps them
  std::map<std::uint64_t, WaitList> lists;                  // by address in the process
  int tasks = 1;
  std::optional<Error> failure;    // of the rank's function
  std::uint32_t next_context = 1;  // of the groups that it makes, as job_state.h counts

  int ranks() const { return simulation.ranks(); }
  // Room for a message. Error{connection}: too much is under way.
  std::unique_ptr<Parcel> parcel(std::uint64_t bytes);
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
  Channel& channel;  // a message's bytes follow on it, and a descriptor may have arrived
};
using Verbs = std::map<Verb, void (*)(const Asked&, Response&)>;
const Verbs& tasking_verbs();
const Verbs& world_verbs();
const Verbs& transport_verbs();
const Verbs& collective_verbs();

// The endpoint whose number the question has next. Kept by the caller: another task may close it.
std::shared_ptr<Endpoint> endpoint_of(const Asked& asked);

}  // namespace dist::sim

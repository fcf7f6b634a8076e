#include "dist/simulate/remote/session.h"

#include <sys/mman.h>

#include "dist/core/fail.h"
#include "dist/core/tasking.h"

namespace dist::sim {
namespace {

// Bytes of a message that a vector keeps: a mapping of its own would take longer.
constexpr std::size_t small = std::size_t{64} << 10;

const Verbs::mapped_type* find(Verb verb) {
  for (const Verbs* verbs : {&tasking_verbs(), &world_verbs(), &transport_verbs(), &collective_verbs()}) {
    if (const auto found = verbs->find(verb); found != verbs->end()) return &found->second;
  }
  return nullptr;
}

void send_error(Channel& channel, const Error& error) {
  wire::Writer message(Answer::error);
  put_enum(message, error.code());
  message.put(std::string_view(error.what()));
  channel.send(message);
}

}  // namespace

Parcel::Parcel(std::size_t& held, std::size_t bytes) : held_(held) {
  held_ += bytes;
  if (bytes <= small) {
    small_.resize(bytes);
    bytes_ = small_;
    return;
  }
  void* const room =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) {
    held_ -= bytes;
    fail(Errc::connection, "no room for a message of {} bytes", bytes);
  }
  bytes_ = {static_cast<std::byte*>(room), bytes};
}

Parcel::~Parcel() {
  held_ -= bytes_.size();
  if (bytes_.size() > small) munmap(bytes_.data(), bytes_.size());
}

void Session::serve(UniqueFd socket) {
  Channel channel(std::move(socket), "its process", options.patience, options.stopped,
                  options.longest_question);
  try {
    serve_task(channel);
  } catch (const Error& error) {
    give_up(error.what());
    throw;
  }
  if (failure) throw Error(*failure);
}

void Session::serve_task(Channel& channel) {
  for (;;) {
    const Bytes message = channel.receive();
    wire::Reader question(message);
    const Verb verb = get_enum(question, last_verb);
    if (verb == Verb::bye) {
      Response farewell;
      return channel.send(farewell.message);
    }
    answer(verb, question, channel);
  }
}

// An Error{connection} is the process's fault and ends the session; other errors are answers.
void Session::answer(Verb verb, wire::Reader& question, Channel& channel) {
  Response response;
  const auto* const handler = find(verb);
  if (!handler) fail(Errc::connection, "there is no verb {}", static_cast<int>(verb));
  try {
    (*handler)({*this, question, channel}, response);
    question.expect_end();
  } catch (const Error& error) {
    if (error.code() == Errc::connection) throw;
    return send_error(channel, error);
  }
  channel.send(response.message, response.parcel ? ConstBytes(response.parcel->bytes()) : ConstBytes());
}

void Session::give_up(const std::string& why) noexcept {
  for (auto& endpoint : endpoints) {
    if (endpoint) endpoint->close(why);
    endpoint.reset();
  }
}

std::unique_ptr<Parcel> Session::parcel(std::uint64_t bytes) {
  std::size_t held = bytes_under_way;
  for (int one = 0; one < ranks(); ++one) held += simulation.kept_bytes(one);
  if (bytes > options.most_bytes || held + bytes > options.most_bytes)
    fail(Errc::connection, "more than {} MiB of messages are under way", options.most_bytes >> 20);
  return std::make_unique<Parcel>(bytes_under_way, bytes);
}

void Session::start_task(UniqueFd socket) {
  if (!socket) fail(Errc::connection, "a task without a channel");
  if (tasks >= options.most_tasks)
    fail(Errc::resource, "rank {} has {} tasks; a rank may have no more", rank, tasks);
  ++tasks;
  Tasking::current()->start([self = shared_from_this(), fd = socket.release()] {
    Channel channel(UniqueFd(fd), "its process", self->options.patience, self->options.stopped,
                    self->options.longest_question);
    try {
      self->serve_task(channel);
    } catch (const Error& error) {
      self->give_up(error.what());
    }
    --self->tasks;
  });
}

Report run_processes(const RunOptions& options, std::vector<UniqueFd> sockets,
                     const ProcessOptions& processes) {
  if (std::cmp_not_equal(sockets.size(), options.ranks))
    fail(Errc::invalid_argument, "run_processes: {} ranks, but {} sockets", options.ranks, sockets.size());
  RunOptions of_processes = options;
  of_processes.watch = false;  // this thread sleeps while a process works
  std::size_t bytes_under_way = 0;
  return run(of_processes, [&](int rank) {
    auto& simulation = static_cast<Simulation&>(*rank_context().virtual_world);
    const auto session = std::make_shared<Session>(rank, simulation, processes, bytes_under_way);
    session->serve(std::move(sockets[static_cast<std::size_t>(rank)]));
  });
}

}  // namespace dist::sim

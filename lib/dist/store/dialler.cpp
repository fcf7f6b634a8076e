// Dialler: every address of a host with its own attempts, pauses and failures. poll() begins what is due and
// takes connections that were made; then come the verdicts (refused, hopeless, silent) and their texts.
#include "dist/store/dialler.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "dist/core/fail.h"

namespace dist {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_pause = 250ms;    // between two attempts at an address
constexpr auto attempt = 10s;            // per connection; a new attempt makes the kernel ask again soon
constexpr int refusals_to_believe = 10;  // a count, since time also passes while this process is stopped
constexpr auto failures_to_believe = 60s;

bool is_ready(int fd) {
  pollfd entry{fd, POLLOUT, 0};
  return ::poll(&entry, 1, 0) > 0;
}

int error_of(int fd) {
  int error = 0;
  socklen_t length = sizeof error;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

// A connection to a free port of the ephemeral range can connect to itself (TCP's simultaneous open).
bool is_connected_to_itself(int fd) {
  RawAddress here, there;
  ::getsockname(fd, here.get(), &here.length);
  ::getpeername(fd, there.get(), &there.length);
  return here.family() != AF_UNIX && here == there;
}

// Takes the socket and leaves /dev/null at its descriptor, so that a second call finds neither the connection
// nor what might have got the number. Returns an empty one if there is no socket.
UniqueFd take_given(int given) {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(given, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return {};
  UniqueFd taken(::fcntl(given, F_DUPFD_CLOEXEC, 0));
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ::dup3(nothing.get(), given, O_CLOEXEC);
  ::fcntl(taken.get(), F_SETFL, O_NONBLOCK);
  return taken;
}

}  // namespace

Dialler::Dialler(std::vector<SocketAddress> addresses) : addresses_(std::move(addresses)) { look_up(); }

void Dialler::look_up() {
  look_up_again_ = Clock::now() + longest_pause;
  const auto add = [this](const RawAddress& address, int given) {
    const auto is_same = [&](const Place& place) { return place.given == given && place.address == address; };
    if (std::ranges::any_of(places_, is_same)) return;
    Place place;
    place.address = address;
    place.given = given;
    places_.push_back(std::move(place));
  };
  for (const SocketAddress& address : addresses_) {
    if (address.given >= 0) {
      add({}, address.given);
      continue;
    }
    for (const RawAddress& raw : resolve(address, 0, &unresolved_)) add(raw, -1);
  }
}

std::optional<Dialler::Connection> Dialler::poll() {
  if (has_failed() && Clock::now() >= look_up_again_) look_up();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Place& place = places_[i];
    if (place.is_idle() && Clock::now() >= due(place)) begin(place);
    if (!place.fd || !has_connected(place)) continue;
    held_until_ = Clock::now() + answer_patience;
    return Connection{std::move(place.fd), i};
  }
  return std::nullopt;
}

Dialler::Clock::time_point Dialler::due(const Place& place) const {
  return std::max(place.was_dialled ? place.due : next_due_, held_until_);
}

void Dialler::begin(Place& place) {
  place.begun = Clock::now();
  if (place.first_begun == Clock::time_point{}) place.first_begun = place.begun;
  place.was_dialled = true;
  next_due_ = place.begun + head_start;
  if (place.given >= 0) {
    place.fd = take_given(place.given);
    if (!place.fd)
      note_failure(place, EBADF, "no socket was given to this process there, or it is already in use");
    return;
  }
  UniqueFd fd = stream_socket(place.address.family());
  if (!fd && errno != EAFNOSUPPORT)
    fail_errno(Errc::resource, errno, fmt::format("no socket to connect to {} (see ulimit -n)", place.str()));
  if (fd && (::connect(fd.get(), place.address.get(), place.address.length) == 0 || errno == EINPROGRESS ||
             errno == EINTR))
    place.fd = std::move(fd);
  else
    note_failure(place, errno, std::strerror(errno));
}

bool Dialler::has_connected(Place& place) {
  if (!is_ready(place.fd.get())) {
    if (Clock::now() - place.begun > attempt) note_failure(place, ETIMEDOUT, std::strerror(ETIMEDOUT));
    return false;
  }
  int error = error_of(place.fd.get());
  if (error == 0 && is_connected_to_itself(place.fd.get())) error = ECONNREFUSED;
  if (error != 0) {
    note_failure(place, error, std::strerror(error));
    return false;
  }
  tune_stream(place.fd.get());
  return place.is_connected = true;
}

void Dialler::note_failure(Place& place, int error, std::string_view problem) {
  place.fd.reset();
  place.is_connected = false;
  place.error = error;
  place.problem = problem;
  place.refusals += error == ECONNREFUSED || error == ECONNRESET;
  next_due_ = Clock::now();
  place.due = next_due_ + place.pause;
  place.pause = std::min<std::chrono::milliseconds>(2 * place.pause, longest_pause);
}

void Dialler::reject(std::size_t place, std::string_view problem) {
  note_failure(places_[place], ECONNRESET, problem);
  if (std::ranges::none_of(places_, &Place::is_connected)) held_until_ = {};
}

void Dialler::prefer(std::string_view host) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].was_dialled || this->host(i) != host) continue;
    places_[i].was_dialled = true;
    places_[i].due = {};
  }
}

void Dialler::watch(std::vector<pollfd>& entries) const {
  for (const Place& place : places_)
    if (place.fd) entries.push_back({place.fd.get(), POLLOUT, 0});
}

int Dialler::poll_ms() const {
  auto next = places_.empty() ? look_up_again_ : Clock::time_point::max();
  for (const Place& place : places_) {
    if (place.fd) next = std::min(next, place.begun + attempt);
    if (place.is_idle()) next = std::min(next, due(place));
  }
  if (next == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
  return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
}

bool Dialler::has_failed() const {
  return std::ranges::all_of(places_, [](const Place& p) { return p.is_idle() && p.error != 0; });
}

bool Dialler::is_refused() const {
  return !places_.empty() && has_failed() &&
         std::ranges::all_of(places_, [](const Place& p) { return p.error == ECONNREFUSED; });
}

bool Dialler::is_hopeless() const {
  const auto now = Clock::now();
  return has_failed() && std::ranges::all_of(places_, [now](const Place& place) {
           const bool is_full =
               place.error == EAGAIN;  // a local socket whose owner does not accept, but it exists
           return place.refusals >= refusals_to_believe ||
                  (!is_full && now - place.first_begun > failures_to_believe);
         });
}

std::vector<std::string> Dialler::silent(std::chrono::milliseconds for_so_long) const {
  std::vector<std::string> found;
  for (const Place& place : places_) {
    const bool answers = place.is_connected || place.error == ECONNREFUSED || place.error == ECONNRESET ||
                         place.error == EAGAIN;
    const bool is_late = place.error != 0 || (place.fd && Clock::now() - place.begun >= for_so_long);
    if (!answers && is_late) found.push_back(place.str());
  }
  return found;
}

std::string Dialler::problems() const {
  if (places_.empty()) return unresolved_;
  if (places_.size() == 1) return places_[0].problem.empty() ? "no answer" : places_[0].problem;
  return tried();
}

std::string Dialler::tried() const {
  std::string text;
  for (const Place& place : places_)
    if (place.was_dialled) text += (text.empty() ? "" : ", ") + place.str();
  return text;
}

std::string Dialler::Place::str() const {
  const std::string name = given >= 0 ? fmt::format("fd://{}", given) : address.str();
  const std::string_view state = is_connected ? "connected, without an answer" : "no answer";
  return fmt::format("{} ({})", name, problem.empty() || is_connected ? state : problem);
}

std::string Dialler::host(std::size_t place) const {
  return places_[place].given >= 0 ? "" : parse_address(places_[place].address.str()).host;
}

void Dialler::wait(Deadline deadline, std::vector<pollfd> entries) const {
  watch(entries);
  const int ms = poll_ms(), most = deadline.poll_ms();
  ::poll(entries.data(), entries.size(), ms < 0 ? most : most < 0 ? ms : std::min(ms, most));
}

}  // namespace dist

// The session's handlers for a process's Endpoint and its Transports. A message's bytes are kept in a Parcel
// here, and what one rank may have in flight is limited.
#include <utility>

#include "dist/core/fail.h"
#include "dist/simulate/remote/session.h"

namespace dist::sim {
namespace {

std::shared_ptr<Endpoint>& endpoint(const Asked& asked) {
  const auto number = asked.question.get<std::uint32_t>();
  auto& endpoints = asked.session.endpoints;
  if (number >= endpoints.size() || !endpoints[number])
    fail(Errc::connection, "there is no endpoint {}", number);
  return endpoints[number];
}

// The caller keeps it alive, because another task may close it in the meantime.
std::shared_ptr<OpenTransport> transport(const Asked& asked) {
  const auto number = asked.question.get<std::uint64_t>();
  const auto found = asked.session.transports.find(number);
  if (found == asked.session.transports.end()) fail(Errc::connection, "there is no transport {}", number);
  return found->second;
}

Transfer& transfer(const Asked& asked, OpenTransport& open) {
  const auto number = asked.question.get<std::uint64_t>();
  const auto found = open.transfers.find(number);
  if (found == open.transfers.end()) fail(Errc::connection, "there is no transfer {}", number);
  return found->second;
}

// A buffer here for the elements that the question announces.
TensorView parcel_for(const Asked& asked, Transfer& transfer) {
  Session& session = asked.session;
  TensorView view;
  view.dtype = get_enum(asked.question, DType::boolean);
  view.count = asked.question.get<std::int64_t>();
  constexpr auto most = std::int64_t{1} << 40;
  if (view.count < 0 || view.count > most) fail(Errc::connection, "a message of {} elements", view.count);
  transfer.parcel = session.parcel(view.bytes());
  view.data = transfer.parcel->bytes().data();
  return view;
}

// A correct program has a handful of each at a time.
void check_count(const Session& session, std::size_t open, const char* what) {
  if (open >= session.options.most_open)
    fail(Errc::connection, "more than {} {} are open", session.options.most_open, what);
}

void open_transport(const Asked& asked, Response& response) {
  Session& session = asked.session;
  check_count(session, session.transports.size(), "operations");
  const auto at = endpoint(asked);
  const TransportOptions options = get_transport_options(asked.question, session.rank, session.ranks());
  session.opened_by.emplace(options.label.name, options.label.where.str());
  if (std::cmp_greater(session.opened_by.size(), session.options.most_places))
    fail(Errc::connection, "operations of more than {} places", session.options.most_places);
  auto open = std::make_shared<OpenTransport>();
  open->endpoint = at;
  open->transport = at->open(options);
  session.transports.emplace(++session.numbers, std::move(open));
  response.message.put(session.numbers);
}

void post(const Asked& asked, Response& response, bool is_send) {
  const auto open = transport(asked);
  const auto peer = asked.question.get<int>();
  if (peer >= open->transport->size() || peer < (is_send ? 0 : any_rank))
    fail(Errc::connection, "rank {} is not in that group", peer);
  check_count(asked.session, open->transfers.size(), "transfers of one operation");
  Transfer fresh;
  const TensorView view = parcel_for(asked, fresh);
  if (is_send) {
    asked.channel.receive(fresh.parcel->bytes());
    if (const auto& sent = asked.session.options.sent)
      sent(asked.session.rank, Tasking::current()->now().time_since_epoch(), fresh.parcel->bytes());
  }
  fresh.receives = !is_send;
  fresh.request = is_send ? open->transport->isend(view, peer) : open->transport->irecv(view, peer);
  const std::uint64_t number = ++asked.session.numbers;
  open->transfers.emplace(number, std::move(fresh));
  response.message.put(number);
}

void wait_for(const Asked& asked, Response& response) {
  const auto open = transport(asked);
  const auto node = open->transfers.extract(asked.question.get<std::uint64_t>());
  if (node.empty()) fail(Errc::connection, "there is no such transfer");
  Transfer& waited = node.mapped();
  response.message.put(waited.request.wait());
  if (waited.receives) response.parcel = std::move(waited.parcel);
}

}  // namespace

std::shared_ptr<Endpoint> endpoint_of(const Asked& asked) { return endpoint(asked); }

const Verbs& transport_verbs() {
  static const Verbs verbs{
      {Verb::make_endpoint,
       [](const Asked& asked, Response& response) {
         auto& endpoints = asked.session.endpoints;
         check_count(asked.session, endpoints.size(), "endpoints");
         response.message.put(static_cast<std::uint32_t>(endpoints.size()));
         endpoints.push_back(asked.session.simulation.endpoint(asked.session.rank));
       }},
      {Verb::open, open_transport},
      {Verb::progress,
       [](const Asked& asked, Response&) {
         const auto at = endpoint(asked);
         at->progress(Timeout(asked.question.get<Timeout::rep>()));
       }},
      {Verb::interrupt, [](const Asked& asked, Response&) { endpoint(asked)->interrupt(); }},
      {Verb::abort,
       [](const Asked& asked, Response&) {
         const auto at = endpoint(asked);
         at->abort(std::string(asked.question.text()));
       }},
      {Verb::close,
       [](const Asked& asked, Response&) {
         const auto at = std::move(endpoint(asked));
         const std::string reason(asked.question.text());
         // The others hear it.
         if (!reason.empty() && !asked.session.failure) asked.session.failure = Error(Errc::aborted, reason);
         at->close(reason);
       }},
      {Verb::post_send, [](const Asked& asked, Response& response) { post(asked, response, true); }},
      {Verb::post_receive, [](const Asked& asked, Response& response) { post(asked, response, false); }},
      {Verb::wait_for, wait_for},
      {Verb::test,
       [](const Asked& asked, Response& response) {
         const auto open = transport(asked);
         response.message.put(transfer(asked, *open).request.is_completed());
       }},
      {Verb::cancel,
       [](const Asked& asked, Response&) {
         const auto open = transport(asked);
         open->transfers.erase(asked.question.get<std::uint64_t>());
       }},
      {Verb::close_transport,
       [](const Asked& asked, Response&) {
         asked.session.transports.erase(asked.question.get<std::uint64_t>());
       }},
  };
  return verbs;
}

}  // namespace dist::sim

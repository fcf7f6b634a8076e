#include "members.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace distrun {

std::string Member::text() const { return fmt::format("{} {} {} {}", name, size, number, role); }

Member Member::parse(int arrival, const std::string& text) {
  std::istringstream in(text);
  Member member;
  member.arrival = arrival;
  in >> member.name >> member.size >> member.number >> std::ws;
  std::getline(in, member.role);
  return member;
}

bool Round::has(const std::string& name) const {
  return std::ranges::count(members, name, &Member::name) > 0;
}

std::vector<Member> in_order(const std::vector<Member>& members) {
  std::vector<Member> seats(members.size());
  for (const Member& one : members)
    if (one.number >= 0) seats[static_cast<std::size_t>(one.number)] = one;
  auto seat = seats.begin();
  for (const Member& one : members) {
    if (one.number >= 0) continue;
    seat = std::ranges::find(seat, seats.end(), std::string(), &Member::name);
    *seat = one;
  }
  return seats;
}

}  // namespace distrun

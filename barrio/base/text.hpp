#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace barrio {

/// Count the single-character edits (insert, delete, replace, swap of neighbours) between two words.
/// Cost: O(a.size() * b.size()).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Find the candidate nearest to a misspelt word; empty if none is near enough to be meant.
std::string nearest_word(std::string_view word, std::span<const std::string> candidates);

/// Write " Did you mean 'x'?" for the nearest candidate, or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// Write a byte count with a binary unit, "1.5 MiB".
std::string format_bytes(std::uint64_t bytes);

/// Write a time with a fitting unit, "12.3 ms".
std::string format_seconds(double seconds);

/// Write a count with thin groups of three digits, "84 213".
std::string format_count(std::int64_t count);

}  // namespace barrio

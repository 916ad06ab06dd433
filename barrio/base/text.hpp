#pragma once

/// @file Format bytes, times and counts for readers, and suggest the nearest word.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace barrio {

/// Count the single-character edits (insert, delete, replace, swap of neighbours) between two words.
/// Cost: O(a.size() * b.size()).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Find the candidate nearest to a misspelt word; empty if none is near enough.
std::string nearest_word(std::string_view word, std::span<const std::string> candidates);

/// Format " Did you mean 'x'?" for the nearest candidate; empty if there is none.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// Format a byte count with a binary unit, "1.5 MiB".
std::string format_bytes(std::uint64_t bytes);

/// Format a time with a suitable unit, "12.3 ms".
std::string format_seconds(double seconds);

/// Format a count in groups of three digits, "84 213".
std::string format_count(std::int64_t count);

}  // namespace barrio

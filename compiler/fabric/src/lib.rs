//! The expanded fabric: devices, ports and links by coordinate.
